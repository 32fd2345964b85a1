/** Outcome of a call. */
interface SharedLesson {
  readonly how: 'failed' | 'abandoned'
  readonly text: string
}

/** Maximum number of calls that are kept. The oldest are removed first. */
const mostShared = 500

/** Lessons that the agents of a group share about failed and abandoned calls. They are kept in memory until the group ends. */
export class SharedLessons {
  readonly #members = new Set<string>()
  /** Lessons by call, then by agent, the newest last. */
  readonly #lessons = new Map<string, Map<string, SharedLesson>>()

  /** Adds an agent to the group. Returns the name by which the others know it: this name, with a number if another has it. */
  join(name: string): string {
    let own = name
    for (let number = 2; this.#members.has(own); number += 1) own = `${name} ${number}`
    this.#members.add(own)
    return own
  }

  /** Adds a lesson. `call` is the fingerprint of the call. */
  add(member: string, call: string, lesson: SharedLesson): void {
    if (!this.#members.has(member)) return
    const known = this.#lessons.get(call) ?? new Map<string, SharedLesson>()
    known.delete(member)
    known.set(member, lesson)
    this.#lessons.delete(call)
    this.#lessons.set(call, known)
    if (this.#lessons.size > mostShared) this.#lessons.delete(this.#lessons.keys().next().value!)
  }

  /** Returns the newest lesson of another agent in the group about a call. */
  find(member: string, call: string): (SharedLesson & { readonly by: string }) | undefined {
    if (!this.#members.has(member)) return undefined
    const found = [...(this.#lessons.get(call) ?? [])].findLast(([by]) => by !== member)
    return found === undefined ? undefined : { ...found[1], by: found[0] }
  }

  /** Ends the group: removes all lessons and ignores later ones. */
  end(): void {
    this.#members.clear()
    this.#lessons.clear()
  }
}
