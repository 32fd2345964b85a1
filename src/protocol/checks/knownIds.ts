/** Stored form of the ids, as plain JSON. One long text is parsed faster than many short ones. */
export interface KeptIds {
  /** Ids in one text, each enclosed in spaces. */
  readonly joined: string
  /** Ids that contain a space, and the empty id. */
  readonly others: readonly string[]
}

/** Maximum number of ids that are remembered as missing from the set. */
const mostAbsent = 64

const noIds: KeptIds = { joined: ' ', others: [] }

/** A growing set of ids. Stored ids are searched in their text instead of being loaded into a set. */
export class KnownIds {
  readonly #kept: KeptIds
  /** Added ids; missing while there are none. */
  #added: Set<string> | undefined
  /** Ids that were not found, cached because an id is usually looked up more than once before it is added. */
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
