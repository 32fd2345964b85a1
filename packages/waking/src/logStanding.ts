import { WaitingMessages } from '../../../src/conversation/tree/waitingMessages.ts'
import { Folding } from '../../../src/log/fold.ts'
import { waitsForPeople } from '../../../src/machines/callFacts.ts'
import { openChildren } from '../../../src/protocol/parts/inner/innerState.ts'
import { ContextFold } from '../../../src/machines/rebuildContext.ts'
import type { Metadata } from '../../../src/protocol/metadata.ts'
import type { Pending } from '../../../src/protocol/runs/pending.ts'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { checkVersion } from '../../../src/protocol/upgradeRecord.ts'
import { outlineFold, type Outline } from '../../../src/log/outline.ts'
import { historyParts, readPart } from '../../../src/log/readHistory.ts'
import { keptIn, type KeptState } from '../../../src/runtime/agents/keptAgent.ts'
import { ownPending } from '../../../src/runtime/agents/agentTree.ts'

/** An entry that waits for people, and the ancestors of its agent. */
export interface PlacedPending {
  readonly pending: Pending
  readonly path: readonly string[]
}

/** State of the tree of an agent that is not running, according to its logs. */
export interface LogStanding {
  /**
   * `underWay`: in the middle of work, which continues when it is resumed; `waiting`: only for people; `paused`: until it is resumed;
   * `resting`: there is nothing to do, or it was stopped for good.
   */
  readonly standing: 'underWay' | 'waiting' | 'paused' | 'resting'
  readonly definition: string
  readonly metadata: Metadata | undefined
  readonly title: string | undefined
  /** All entries that wait for people, the agent's own first. */
  readonly waiting: readonly PlacedPending[]
  /** True if the state depends on the logs of sub-agents that it called. */
  readonly hasChildren: boolean
  /** True for a detached agent, which is resumed by the agent that called it. */
  readonly isReporting: boolean
}

const folds = [outlineFold]

/** The fold of one log. */
class LeftFold {
  readonly #folding: Folding
  readonly #context: ContextFold
  #messages: WaitingMessages
  #isStopped = false
  created: RecordOf<'agent.created'> | undefined

  constructor(kept?: KeptState) {
    this.created = kept?.created
    this.#context = new ContextFold(kept?.context)
    this.#messages = new WaitingMessages(kept?.conversation.waiting)
    this.#folding = new Folding(folds, kept?.folds)
  }

  apply(record: LogRecord): void {
    this.#context.apply(record)
    this.#folding.apply(record)
    if (record.type === 'queue.changed') this.#messages.apply(record)
    else if (record.type === 'message.added') this.#messages.said(record.message.content)
    else if (record.type === 'agent.stopped') this.#isStopped = true
    else if (record.type === 'agent.created') {
      this.created = record
      // What waited in its source stays there.
      if (record.forkedFrom !== undefined) this.#messages = new WaitingMessages()
    }
  }

  get outline(): Outline {
    return this.#folding.at(outlineFold).state
  }

  get context() {
    return this.#context.context
  }

  /** The sub-agents at work, with the keys of their calls. */
  get called(): readonly { readonly key: string; readonly childId: string }[] {
    const { calls, parts } = this.context
    return [
      ...calls.flatMap(({ key, status, childId, reports }) =>
        status === 'running' && childId !== undefined && !reports ? [{ key, childId }] : [],
      ),
      ...Object.values(parts.inner ?? {}).flatMap((made) =>
        openChildren(made).map(({ n, childId }) => ({ key: `${childId}/${n}`, childId })),
      ),
    ]
  }

  /** Returns the state. `held`: keys of calls whose sub-agents wait for people. */
  standing(held: ReadonlySet<string>): LogStanding['standing'] {
    const { run, pause, reporters, undoing, foreign } = this.context
    // What is open in the past of another party ends as soon as the agent is opened.
    if (this.#isStopped || foreign) return 'resting'
    const { prompts, steering } = this.#messages.queues
    if (run !== null) return steering.length === 0 && this.#waits(held) ? 'waiting' : 'underWay'
    if (pause !== null) return pause.type === 'interrupted' ? 'underWay' : 'paused'
    return prompts.length + reporters.length > 0 || undoing !== null ? 'underWay' : 'resting'
  }

  /** Returns true if nothing continues before people decide. A call after a waiting one may wait for its turn. */
  #waits(held: ReadonlySet<string>): boolean {
    let isAny = false
    for (const call of this.context.calls) {
      if (call.status === 'settled') continue
      if (waitsForPeople(call) || held.has(call.key)) isAny = true
      else if (!isAny || call.status !== 'ready' || call.decision !== undefined) return false
    }
    return isAny
  }
}

/** Returns the fold of a log, from its checkpoint and the records since if it has one that fits. Rejects as `readHistory` does. */
async function foldOf(store: Store, agentId: string): Promise<LeftFold> {
  return (await fromCheckpoint(store, agentId)) ?? (await fromBeginning(store, agentId))
}

async function fromCheckpoint(store: Store, agentId: string): Promise<LeftFold | undefined> {
  const checkpoint = await store.checkpoints?.read(agentId).catch(() => undefined)
  if (checkpoint === undefined) return undefined
  let fold: LeftFold | undefined
  for await (const record of store.read(agentId, checkpoint.seq)) {
    checkVersion(agentId, record)
    if (fold !== undefined) fold.apply(record)
    else {
      try {
        fold = new LeftFold(keptIn(checkpoint, record).kept)
      } catch {
        // The log has everything.
        return undefined
      }
    }
  }
  return fold
}

async function fromBeginning(store: Store, agentId: string): Promise<LeftFold> {
  const fold = new LeftFold()
  for (const part of await historyParts(store, agentId))
    for await (const record of readPart(store, part)) fold.apply(record)
  return fold
}

/** Maximum depth to which sub-agents are followed, more than any agent may have. */
const mostDepth = 64

/**
 * Returns the state of an agent that is not running, and of the agents below it that it waits for, according to their logs. Opens and wakes nothing.
 * Rejects as `readHistory` does.
 */
export async function standingOf(store: Store, agentId: string, path: readonly string[] = []): Promise<LogStanding> {
  const fold = await foldOf(store, agentId)
  const { outline, created, called, context } = fold
  const own = ownPending(agentId, context).map((pending) => {
    const askedAt = outline.asked?.get(pending.key)
    return { pending: askedAt === undefined ? pending : { ...pending, askedAt }, path }
  })
  const below: PlacedPending[] = []
  const held = new Set<string>()
  for (const { key, childId } of path.length < mostDepth ? called : []) {
    // One whose log never began, or cannot be read, is no reason to miss the others.
    const child = await standingOf(store, childId, [...path, agentId]).catch(() => undefined)
    if (child === undefined) continue
    if (child.standing === 'waiting') held.add(key)
    below.push(...child.waiting)
  }
  const standing = fold.standing(held)
  return {
    standing,
    definition: created?.definition ?? '',
    metadata: created?.metadata,
    title: outline.title,
    waiting: standing === 'resting' || standing === 'paused' ? [] : [...own, ...below],
    hasChildren: called.length > 0,
    isReporting: created?.parent?.reports !== undefined,
  }
}
