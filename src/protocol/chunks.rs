//! The part of a byte stream that has arrived and was not taken yet.

/// A kept buffer larger than this is given back once it is empty, in bytes.
const KEEP_CAPACITY: usize = 256 * 1024;

/// Takes chunks as they come and gives their bytes in the pieces that a reader wants.
#[derive(Debug, Default)]
pub struct Chunks {
    buffer: Vec<u8>,
    start: usize,
}

impl Chunks {
    /// Makes room for `len` bytes behind what is held and lets `fill` write them. The room is zeroed first.
    ///
    /// The caller copies straight from the network's buffer into this one, so there is no third copy in between.
    pub fn fill_with(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) {
        if len == 0 {
            return;
        }
        self.reclaim();
        let end = self.buffer.len();
        self.buffer.resize(end + len, 0);
        fill(&mut self.buffer[end..]);
    }

    /// Takes one chunk of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.reclaim();
        self.buffer.extend_from_slice(chunk);
    }

    /// What is here.
    pub fn held(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Takes the first `len` bytes of what is here, which must be that many.
    pub fn take(&mut self, len: usize) -> &[u8] {
        let from = self.start;
        self.start += len;
        &self.buffer[from..self.start]
    }

    /// How much room the buffer has.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Drops what was given out, so that the buffer grows with what is held and not with the stream.
    fn reclaim(&mut self) {
        if self.start == 0 {
            return;
        }
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if self.buffer.capacity() > KEEP_CAPACITY {
                self.buffer.shrink_to(KEEP_CAPACITY);
            }
        } else {
            self.buffer.drain(..self.start);
        }
        self.start = 0;
    }
}
