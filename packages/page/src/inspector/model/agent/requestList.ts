import type { TurnRequest } from '../../../../../../src/conversation/request/captureRequest.ts'
import type { EventOf } from '../../../../../../src/protocol/events.ts'
import type { RecordOf } from '../../../../../../src/protocol/records.ts'
import type { RequestView } from './agentView.ts'

type Captured = RecordOf<'turn.captured'>

/** Limit of the kept requests that were only seen live. */
const mostLive = 50

/**
 * Requests of a growing log. Each is kept as its difference from the one before, as whole requests would take space
 * quadratic in the length of the conversation.
 */
export class RequestList {
  readonly #captures: Captured[] = []
  readonly #logged: RequestView[] = []
  #live: RequestView[] = []
  #all: readonly RequestView[] | undefined = []
  /** The request that was read last, and the one before: a difference needs two. */
  readonly #built = new Map<number, TurnRequest>()

  /** Requests, oldest first; the same array while none is added. */
  get all(): readonly RequestView[] {
    return (this.#all ??= [...this.#logged, ...this.#live].toSorted((a, b) => a.seq - b.seq))
  }

  capture(record: Captured): void {
    const index = this.#captures.push(record) - 1
    this.#logged.push(viewOf(record, () => this.#read(index)))
    this.#live = this.#live.filter(({ turnIndex }) => turnIndex !== record.turnIndex)
    this.#all = undefined
  }

  /** Adds a request seen live, unless the log already has the one of its turn or a later turn. */
  see(event: EventOf<'turn.request'>): void {
    const last = this.#captures.at(-1)
    if (last !== undefined && last.turnIndex >= event.turnIndex) return
    const { seq, runId, turnIndex, model, request, provenance } = event
    const earlier = this.#live.filter((other) => other.turnIndex !== turnIndex)
    const attempt = this.#live.length - earlier.length + 1
    const before = earlier.at(-1)?.request.messages ?? []
    const kept = sameBeginning(before, request.messages)
    const seen: RequestView = { isLive: true, seq, runId, turnIndex, attempt, kept, model, request, provenance }
    this.#live = [...earlier, seen].slice(-mostLive)
    this.#all = undefined
  }

  #read(index: number): TurnRequest {
    const known = this.#built.get(index)
    if (known !== undefined) return known
    const built = assemble(this.#captures, index)
    if (this.#built.size >= 2) this.#built.delete(this.#built.keys().next().value!)
    this.#built.set(index, built)
    return built
  }
}

/** Returns the view of a captured request, which is assembled when it is read, and dropped when others are. */
function viewOf({ seq, runId, turnIndex, attempt, kept, model }: Captured, read: () => TurnRequest): RequestView {
  return {
    isLive: false,
    seq,
    runId,
    turnIndex,
    attempt,
    kept,
    model,
    get request() {
      return read().request
    },
    get provenance() {
      return read().provenance
    },
  }
}

function sameBeginning(before: readonly unknown[], after: readonly unknown[]): number {
  let same = 0
  while (same < before.length && same < after.length && JSON.stringify(before[same]) === JSON.stringify(after[same]))
    same += 1
  return same
}

/** Assembles a request from a capture and the earlier ones whose messages still stand at its beginning. */
function assemble(captures: readonly Captured[], index: number): TurnRequest {
  const own = captures[index]!
  const pieces = [{ messages: own.messages, provenance: own.provenance }]
  let needed = own.kept
  let { system, tools, settings } = own
  for (let at = index - 1; at >= 0; at--) {
    const { kept, messages, provenance, ...rest } = captures[at]!
    if (kept < needed) {
      pieces.push({ messages: messages.slice(0, needed - kept), provenance: provenance.slice(0, needed - kept) })
      needed = kept
    }
    system ??= rest.system
    tools ??= rest.tools
    settings ??= rest.settings
    if (needed === 0 && system !== undefined && tools !== undefined && settings !== undefined) break
  }
  pieces.reverse()
  return {
    model: own.model,
    request: {
      system: system ?? '',
      tools: tools ?? [],
      settings: settings ?? {},
      messages: pieces.flatMap(({ messages }) => messages),
    },
    provenance: pieces.flatMap(({ provenance }) => provenance),
  }
}
