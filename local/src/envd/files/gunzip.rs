//! A packed request body, unpacked as it arrives.

use bytes::{Buf, Bytes};
use flate2::write::MultiGzDecoder;
use futures_util::Stream;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What is unpacked at a time, in packed bytes: gzip can pack a thousand bytes into one.
const STEP: usize = 4 * 1024;

/// The unpacked bytes of a stream.
pub struct Gunzip<S> {
    packed: S,
    waiting: Bytes,
    decoder: MultiGzDecoder<Vec<u8>>,
    ended: bool,
}

impl<S> Gunzip<S> {
    /// Unpacks `packed`.
    pub fn new(packed: S) -> Self {
        Self { packed, waiting: Bytes::new(), decoder: MultiGzDecoder::new(Vec::new()), ended: false }
    }
}

impl<S: Stream<Item = io::Result<Bytes>> + Unpin> Stream for Gunzip<S> {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        while !this.ended {
            let outcome = if this.waiting.is_empty() {
                match ready!(Pin::new(&mut this.packed).poll_next(task)) {
                    Some(Ok(bytes)) => {
                        this.waiting = bytes;
                        continue;
                    }
                    Some(Err(error)) => Err(error),
                    None => {
                        this.ended = true;
                        this.decoder.try_finish()
                    }
                }
            } else {
                let step = this.waiting.len().min(STEP);
                let outcome = this.decoder.write_all(&this.waiting[..step]);
                this.waiting.advance(step);
                outcome
            };
            if let Err(error) = outcome {
                this.ended = true;
                return Poll::Ready(Some(Err(error)));
            }
            let plain = std::mem::take(this.decoder.get_mut());
            if !plain.is_empty() {
                return Poll::Ready(Some(Ok(plain.into())));
            }
        }
        Poll::Ready(None)
    }
}
