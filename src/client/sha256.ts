/** Fractions of the cube roots of the first 64 primes. */
// prettier-ignore
const constants = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
])
/** Fractions of the square roots of the first 8 primes. */
const initial = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

const blockBytes = 64

const turn = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

/** The message padded to whole blocks: a one bit, zeros, and its length in bits. */
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

/** Synchronous SHA-256: the browser's is asynchronous, and absent on pages without TLS. */
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

/** HMAC-SHA256. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(blockBytes)
  block.set(key.length > blockBytes ? sha256(key) : key)
  const keyed = (pad: number, rest: Uint8Array): Uint8Array =>
    sha256(Uint8Array.from([...block.map((byte) => byte ^ pad), ...rest]))
  return keyed(0x5c, keyed(0x36, message))
}
