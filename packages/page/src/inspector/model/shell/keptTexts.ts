/** Storage of a browser for texts; every call may throw where a person forbade storage. */
export type TextStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Texts by name, which outlive a reload where the browser allows it, and otherwise last as long as the page. Never throws. */
export class KeptTexts {
  readonly #open: () => TextStore
  /** Texts that could not be stored, by name; `undefined`: forgotten. */
  readonly #here = new Map<string, string | undefined>()

  /** `open` may throw, as reading `localStorage` does where storage is refused. */
  constructor(open: () => TextStore) {
    this.#open = open
  }

  get(name: string): string | undefined {
    if (this.#here.has(name)) return this.#here.get(name)
    try {
      return this.#open().getItem(keyOf(name)) ?? undefined
    } catch {
      return undefined
    }
  }

  /** Sets a text. `undefined` forgets it. */
  set(name: string, text: string | undefined): void {
    try {
      if (text === undefined) this.#open().removeItem(keyOf(name))
      else this.#open().setItem(keyOf(name), text)
      this.#here.delete(name)
    } catch {
      this.#here.set(name, text)
    }
  }
}

const keyOf = (name: string): string => `escapement ${name}`

/** Returns a store that lasts only as long as the page. */
export const forgetful = (): TextStore => {
  const texts = new Map<string, string>()
  return {
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void texts.set(key, text),
    removeItem: (key) => void texts.delete(key),
  }
}
