//! Input of a terminal: in order, paced, and given up when the program does not read.

use super::pty::{Connection, has_ended};
use super::refusal::server_error;
use crate::error::{Result, invalid};
use crate::options::{CallOptions, Options, object};
use crate::protocol::failure::Class;
use crate::protocol::routing::decimal;
use crate::protocol::server::pacing::{KEYS, Pacer, text_of};
use crate::transport::guard::{Bell, Held};
use crate::transport::limits::Limits;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// How long input waits for the program to read, in ms.
const SEND_TIMEOUT: f64 = 10_000.0;

/// What is on its way into a terminal.
#[derive(Default)]
pub struct Typing {
    pacer: RefCell<Pacer>,
    /// Who sends now, and who waits for that.
    turns: RefCell<VecDeque<u32>>,
    /// Rung when there is room for input, when the next turn has come, and at the end.
    room: Bell,
    /// The beginning of a character, from the last bytes that were sent.
    cut: RefCell<Vec<u8>>,
}

impl Typing {
    /// So many bytes of output came.
    pub fn answered(&self, bytes: usize) {
        self.pacer.borrow_mut().output(bytes);
        self.wake();
    }

    /// Lets who waits look again.
    pub fn wake(&self) {
        self.room.ring();
    }

    /// What bytes mean behind those that were sent before. A character that they begin waits for its rest.
    ///
    /// # Errors
    /// E0001 for bytes that are no text; nothing is kept of them.
    pub fn text(&self, given: Vec<u8>) -> Result<String> {
        let all = [self.cut.take(), given].concat();
        match text_of(&all) {
            Ok((text, rest)) => {
                *self.cut.borrow_mut() = rest.to_vec();
                Ok(text.to_owned())
            }
            Err(at) => Err(invalid(&["data is no UTF-8 at byte ", &decimal(at as u64), ": the server takes text alone."])),
        }
    }
}

/// A turn to send; dropping it lets the next one send.
struct Turn<'a> {
    typing: &'a Typing,
    number: u32,
}

impl<'a> Turn<'a> {
    /// Gets in line.
    fn draw(typing: &'a Typing) -> Self {
        let mut turns = typing.turns.borrow_mut();
        let number = turns.back().map_or(0, |last| last.wrapping_add(1));
        turns.push_back(number);
        Self { typing, number }
    }

    fn has_come(&self) -> bool {
        self.typing.turns.borrow().front() == Some(&self.number)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.typing.turns.borrow_mut().retain(|number| *number != self.number);
        self.typing.wake();
    }
}

/// Types text, piece by piece as there is room, when all that came before is sent.
pub async fn type_text(connection: Rc<Connection>, text: String, options: JsValue) -> Result<JsValue> {
    let options = Options::new(options)?;
    // How long the program may read nothing. Whoever is in front has that limit, too, so the line itself needs none.
    let patience = Some(options.millis("timeoutMs")?.unwrap_or(SEND_TIMEOUT)).filter(|ms| *ms > 0.0);
    let limits = Limits::start(&CallOptions { timeout: None, ..options.call(None)? })?;
    let typing = &connection.typing;
    let turn = Turn::draw(typing);
    let (mut sent, mut clock) = (0, None);
    loop {
        if connection.ended() {
            return Err(has_ended());
        }
        if turn.has_come() {
            let before = sent;
            while sent < text.len() {
                let taken = typing.pacer.borrow_mut().take(&text[sent..], text.len() <= KEYS);
                if taken == 0 {
                    break;
                }
                let piece = JsValue::from_str(&text[sent..sent + taken]);
                connection.send(&object(&[("type", JsValue::from_str("input")), ("data", piece)]))?;
                sent += taken;
            }
            if sent == text.len() {
                return Ok(JsValue::UNDEFINED);
            }
            if sent > before || clock.is_none() {
                clock = Some(Held::after(patience));
            }
        }
        let room = typing.room.rung();
        let room = clock.as_ref().map_or(room.clone(), |clock| clock.race(&room));
        if let Err(reason) = JsFuture::from(limits.guard.race(&room)).await {
            let is_late = !limits.guard.is_fired() && clock.is_some_and(|clock| clock.is_fired());
            return Err(if is_late { not_read(sent, text.len()) } else { reason }.into());
        }
    }
}

fn not_read(sent: usize, whole: usize) -> JsValue {
    let message = [
        "The program in the terminal does not read: ",
        &decimal(sent as u64),
        " of ",
        &decimal(whole as u64),
        " bytes were sent, and no output came in answer.",
    ]
    .concat();
    server_error(Class::PayloadTooLarge, &message, 0, "pty_connect", "", "", "")
        .suggestion("Send the rest when the program reads, or write it to a file with files.upload.")
        .build()
}
