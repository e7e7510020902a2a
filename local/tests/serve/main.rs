//! The platform as its clients see it: the real binary, over real sockets.

mod code_cells;
mod console;
mod control;
mod copies;
mod ending;
mod full_disk;
mod gateway;
mod lifecycle;
mod origins;
mod results;
mod start;
mod streams;
mod support;
