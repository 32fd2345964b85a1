/** Ids as they are kept, as plain JSON: one text is read faster than many. */
export interface KeptIds {
  /** Each between two spaces. */
  readonly joined: string
  /** Those that hold a space, or nothing. */
  readonly others: readonly string[]
}

/** How many ids are remembered that are not among them. */
const mostAbsent = 64

const noIds: KeptIds = { joined: ' ', others: [] }

/** A growing set of ids. Of those that were kept no set is made: they are looked for in the text. */
export class KnownIds {
  readonly #kept: KeptIds
  /** Missing while none has come. */
  #added: Set<string> | undefined
  /** Looked for in vain: an id is asked for more than once before it is added. */
  readonly #absent = new Set<string>()

  constructor(kept = noIds) {
    this.#kept = kept
  }

  has(id: string): boolean {
    if (this.#added?.has(id) === true) return true
    if (this.#kept === noIds || this.#absent.has(id)) return false
    const { joined, others } = this.#kept
    if (isPlain(id) ? joined.includes(` ${id} `) : others.includes(id)) return true
    if (this.#absent.size === mostAbsent) this.#absent.clear()
    this.#absent.add(id)
    return false
  }

  add(id: string): void {
    if (this.has(id)) return
    this.#absent.delete(id)
    this.#added ??= new Set()
    this.#added.add(id)
  }

  keep(): KeptIds {
    const added = [...(this.#added ?? [])]
    return {
      joined: this.#kept.joined + added.map((id) => (isPlain(id) ? `${id} ` : '')).join(''),
      others: [...this.#kept.others, ...added.filter((id) => !isPlain(id))],
    }
  }
}

const isPlain = (id: string): boolean => id !== '' && !id.includes(' ')
