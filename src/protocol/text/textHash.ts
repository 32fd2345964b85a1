/** A 64-bit fingerprint of texts, fed piece by piece. It only tells whether texts are equal; do not use it for secrets. */
export class TextHash {
  #low = 0x811c9dc5
  #high = 0x9747b28c

  /** Adds a piece of text. The end of the piece is part of the fingerprint. */
  add(text: string): this {
    let low = this.#low
    let high = this.#high
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      low = Math.imul(low ^ unit, 0x01000193)
      high = Math.imul(high + unit, 0x9e3779b1)
      high ^= high >>> 15
    }
    this.#low = Math.imul(low ^ text.length, 0x01000193)
    this.#high = Math.imul(high + text.length, 0x9e3779b1) ^ (low >>> 13)
    return this
  }

  /** Adds plain JSON, whatever the order of its fields. */
  addJson(value: unknown, depth = 0): this {
    if (value === null || typeof value !== 'object') return this.add(typeof value).add(String(value))
    if (depth === deepest) return this.add('nested too deeply')
    const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value).toSorted(byName)
    this.add(Array.isArray(value) ? 'list' : 'object').add(String(entries.length))
    for (const [name, field] of entries) this.add(String(name)).addJson(field, depth + 1)
    return this
  }

  get value(): string {
    return `${(this.#low >>> 0).toString(36)}.${(this.#high >>> 0).toString(36)}`
  }
}

/** Deepest nesting that is compared. Deeper values count as equal. */
const deepest = 50

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0)
