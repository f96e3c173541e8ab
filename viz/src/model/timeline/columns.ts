// Reads the columns of the timeline's document: base64 of bytes or of integers of variable length (LEB128).

export function bytes_of(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Throws at the end of the bytes, or if a number cannot hold the integer. */
export class IntegerReader {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}
  next(): number {
    let value = 0;
    let weight = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error('a column ends too early');
      value += (byte & 0x7f) * weight;
      if (byte < 0x80) break;
      weight *= 128;
    }
    if (value > Number.MAX_SAFE_INTEGER) throw new Error('a column holds a number that is too large');
    return value;
  }
  get is_at_end() {
    return this.at >= this.bytes.length;
  }
}
