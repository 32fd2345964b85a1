/** Maximum number of bytes of remembered bodies. */
const mostBytes = 32 * 1_024 * 1_024

interface Recent {
  /** Version of the row that has the body: another one after each change. */
  readonly version: string
  readonly body: Uint8Array
  readonly shared?: { readonly id: string; readonly body: Uint8Array } | undefined
}

const bytesOf = (recent: Recent | undefined): number => (recent?.body.length ?? 0) + (recent?.shared?.body.length ?? 0)

/**
 * Remembers the most recently read bodies, so that an unchanged body is not sent again. The least recently used ones
 * are forgotten.
 */
export class RecentBodies {
  /** Bodies by agent, the most recently used last. */
  readonly #recent = new Map<string, Recent>()
  #bytes = 0

  find(id: string): Recent | undefined {
    const found = this.#recent.get(id)
    if (found === undefined) return undefined
    this.#recent.delete(id)
    this.#recent.set(id, found)
    return found
  }

  keep(id: string, recent: Recent): void {
    this.drop(id)
    this.#recent.set(id, recent)
    this.#bytes += bytesOf(recent)
    for (const oldest of this.#recent.keys()) {
      if (this.#bytes <= mostBytes) return
      this.drop(oldest)
    }
  }

  drop(id: string): void {
    this.#bytes -= bytesOf(this.#recent.get(id))
    this.#recent.delete(id)
  }
}
