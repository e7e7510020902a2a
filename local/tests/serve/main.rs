//! The platform as its clients see it: the real binary, over real sockets.

mod code_cells;
mod console;
mod control;
mod ending;
mod gateway;
mod origins;
mod results;
mod start;
mod streams;
mod support;
