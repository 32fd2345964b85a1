/** Returns the first prime numbers. */
function primes(count: number): number[] {
  const found: number[] = []
  for (let next = 2; found.length < count; next += 1) if (found.every((prime) => next % prime !== 0)) found.push(next)
  return found
}

/** Returns the first 32 fractional bits of a root. Roots of small numbers are exact far beyond these bits. */
const fraction = (root: number): number => ((root % 1) * 2 ** 32) | 0

/** Fractions of the cube roots of the first 64 primes. */
const constants = Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)))
/** Fractions of the square roots of the first 8 primes. */
const initial = primes(8).map((prime) => fraction(Math.sqrt(prime)))

const blockBytes = 64

const turn = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

/** Returns the message padded to whole blocks: a one bit, zeros, and its length in bits. */
function padded(message: Uint8Array): DataView {
  const length = Math.ceil((message.length + 9) / blockBytes) * blockBytes
  const bytes = new Uint8Array(length)
  bytes.set(message)
  bytes[message.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setUint32(length - 8, Math.floor(message.length / 2 ** 29))
  view.setUint32(length - 4, message.length << 3)
  return view
}

function mixBlock(state: Uint32Array, words: Uint32Array): void {
  for (let t = 16; t < 64; t += 1) {
    const [near, far] = [words[t - 2]!, words[t - 15]!]
    const nearMix = turn(near, 17) ^ turn(near, 19) ^ (near >>> 10)
    const farMix = turn(far, 7) ^ turn(far, 18) ^ (far >>> 3)
    words[t] = nearMix + words[t - 7]! + farMix + words[t - 16]!
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let t = 0; t < 64; t += 1) {
    const choice = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + constants[t]! + words[t]!) | 0
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = state[index]! + value
}

/** Returns the SHA-256 of a message. It is synchronous, unlike the browser's, which is also missing on pages without TLS. */
export function sha256(message: Uint8Array): Uint8Array {
  const blocks = padded(message)
  const state = Uint32Array.from(initial)
  const words = new Uint32Array(64)
  for (let offset = 0; offset < blocks.byteLength; offset += blockBytes) {
    for (let t = 0; t < 16; t += 1) words[t] = blocks.getUint32(offset + t * 4)
    mixBlock(state, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word)
  return new Uint8Array(digest.buffer)
}

/** Returns the HMAC-SHA256 of a message. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(blockBytes)
  block.set(key.length > blockBytes ? sha256(key) : key)
  const keyed = (pad: number, rest: Uint8Array): Uint8Array =>
    sha256(Uint8Array.from([...block.map((byte) => byte ^ pad), ...rest]))
  return keyed(0x5c, keyed(0x36, message))
}
