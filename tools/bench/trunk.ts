import type { LogRecord, RecordOf } from '../../src/index.ts'
import { applyRevert, planRevert } from '../../src/conversation/brakes/revert/planRevert.ts'
import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { defaultTagPolicy } from '../../src/conversation/request/visibleTags.ts'
import { format, median, now } from './measure.ts'

/**
 * Bookkeeping of a turn (fold its records, assemble its request) as the log grows to 10,000 nodes with 200 abandoned branches,
 * while the trunk stays short; and the same on a log that has none of that history.
 */
const branches = 200
const turnsPerBranch = 25

class Growing {
  readonly conversation = new Conversation()
  readonly assembler = new RequestAssembler(this.conversation, {
    system: 'bench',
    tools: [],
    settings: {},
    braking: defaultTagPolicy,
  })
  turn = 0

  add(record: Record<string, unknown>): void {
    const at = { v: 3, seq: this.conversation.lastSeq + 1, time: 0, runId: 'bench/r0', turnIndex: this.turn }
    this.conversation.apply({ ...at, ...record } as LogRecord)
  }

  place(): { nodeId: number; parentId: number | null } {
    return { nodeId: this.conversation.lastNodeId + 1, parentId: this.conversation.head }
  }

  say(text: string): void {
    this.add({
      type: 'message.added',
      ...this.place(),
      message: { role: 'user', content: [{ type: 'text', text }], source: 'prompt' },
    })
  }

  /** One turn: a reply with a call, its result, the next request. */
  work(): void {
    this.turn += 1
    const callId = `c${this.turn}`
    const { nodeId, parentId } = this.place()
    const usage = { input: 0, output: 10, cacheRead: 0, cacheWrite: 0 }
    const content = [{ type: 'toolCall', callId, name: 'look', input: { n: this.turn } }]
    const message = { role: 'assistant', content, stopReason: 'toolUse', usage, model: 'bench' }
    this.add({ type: 'reply.end', nodeId, parentId, message, costUsd: 0, estimatedTokens: 0 })
    const result = {
      role: 'toolResult',
      callId,
      toolName: 'look',
      content: [{ type: 'text', text: 'seen '.repeat(40) }],
      isError: false,
    }
    this.add({
      type: 'tool.end',
      nodeId: nodeId + 1,
      parentId: nodeId,
      callId,
      key: callId,
      name: 'look',
      message: result,
    })
    this.assembler.assemble(this.turn)
  }

  revertToStart(): void {
    const request = {
      id: `r${this.turn}`,
      by: 'model',
      category: 'failure',
      step: 'n1',
      summary: `branch ${this.turn}`,
    } as const
    const plan = planRevert(this.conversation, request, { maxRevertsPerTarget: Infinity, onUserMessage: 'refuse' })
    if (typeof plan === 'string') throw new Error(plan)
    const at = { turnIndex: this.turn, lastNodeId: this.conversation.lastNodeId }
    this.add({ type: 'revert.applied', ...applyRevert(request, plan, { text: request.summary }, at) } satisfies Partial<
      RecordOf<'revert.applied'>
    >)
  }
}

const grown = new Growing()
grown.say('start')
for (let branch = 0; branch < branches; branch++) {
  for (let turn = 0; turn < turnsPerBranch; turn++) grown.work()
  grown.revertToStart()
}
console.log(
  `log: ${format(grown.conversation.log().length)} nodes, ${branches} abandoned branches; trunk: ${grown.conversation.trunk().length}`,
)

/** Wall microseconds of each turn of a branch. */
function timeTurns(subject: Growing): number[] {
  return Array.from({ length: turnsPerBranch }, () => {
    const start = now()
    subject.work()
    return (now() - start) * 1_000
  })
}

const first: number[] = []
const later: number[] = []
const fresh: number[] = []
for (let round = 0; round < 200; round++) {
  const [afterRevert, ...rest] = timeTurns(grown)
  first.push(afterRevert!)
  later.push(...rest)
  grown.revertToStart()
  const other = new Growing()
  other.say('start')
  fresh.push(...timeTurns(other).slice(1))
}
const ratio = median(later) / median(fresh)
console.log(
  `a turn: ${format(median(later))} µs on the long log, ${format(median(fresh))} µs on an empty one, ratio ${format(ratio, 2)}`,
)
console.log(
  `the turn after a revert, with ${format(grown.conversation.tags().length)} notes on the trunk: ${format(median(first))} µs`,
)
