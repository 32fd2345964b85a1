import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { addUsage, noUsage, textOf, toolCallsOf } from '../../src/protocol/messages.ts'
import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { type Move, moves, policies } from '../support/arbitraries.ts'
import type { MachineDriver } from '../support/machineDriver.ts'
import { assert, describe } from '../support/suite.ts'
import { Wanderer } from './wanderer.ts'

const frame = { system: 'You test.', tools: [], settings: {} }
const seed = 20_260_101

function wander(policy: Partial<AgentPolicy>, road: readonly Move[]): Wanderer {
  const wanderer = new Wanderer(policy)
  const { driver } = wanderer
  driver.onStart = (child) => {
    if (child.src === 'streamReply') assertValidRequest(driver.records)
  }
  for (const move of road) wanderer.play(move)
  wanderer.rest()
  return wanderer
}

function assertValidRequest(records: readonly LogRecord[]): void {
  const conversation = rebuildConversation(records)
  const { request, provenance } = assembleRequest(conversation, frame)
  assert.equal(checkRequest(request, { trunk: conversation.path }), [])
  assert.is(provenance.length, request.messages.length)
}

const idsOf = (queue: readonly { readonly id: string }[]): string[] => queue.map(({ id }) => id)

const authored = (conversation: Conversation): string[] =>
  conversation.path.filter(({ message }) => message.role === 'user').map(({ message }) => textOf(message.content))

/** Every opening has exactly one end, in order; what a pause for approvals or nothing at all holds open is `open`. */
function assertPaired(
  records: readonly LogRecord[],
  start: 'run.start' | 'turn.start',
  end: 'run.end' | 'turn.end',
  open: number,
): void {
  let depth = 0
  for (const { type } of records) {
    if (type === start) assert.is(++depth, 1, `a second ${start} before ${end}`)
    if (type === end) assert.is(--depth, 0, `a ${end} without ${start}`)
  }
  assert.is(depth, open, `${start} left open`)
}

function assertCallsEnded({ records, context }: MachineDriver): void {
  const asked = records.flatMap((record) => (record.type === 'reply.end' ? toolCallsOf(record.message.content) : []))
  const ended = records.flatMap((record) => (record.type === 'tool.end' ? [record.callId] : []))
  const open = context.calls.filter(({ status }) => status !== 'settled').map(({ callId }) => callId)
  assert.equal([...ended, ...open].toSorted(), asked.map(({ callId }) => callId).toSorted())
}

/** Every revert and prune that was asked for has one outcome, or still waits. */
function assertBrakesAnswered({ records, context }: MachineDriver): void {
  const asked: string[] = []
  const answered = [...(context.reverts ?? []), ...(context.prunes ?? [])].map(({ id }) => id)
  for (const record of records) {
    if (record.type === 'revert.requested' || record.type === 'prune.requested') asked.push(record.request.id)
    // A fold answers nobody.
    if (record.type === 'prune.applied' && record.by === 'runtime') continue
    if (record.type === 'revert.applied' || record.type === 'prune.applied') answered.push(record.id)
  }
  assert.equal(answered.toSorted(), asked.toSorted())
}

/** Checks that the usage of each run is that of its turns, and of the compactions and policies between them. */
function assertUsageAddsUp(records: readonly LogRecord[]): void {
  let sum = noUsage
  let isInTurn = false
  for (const record of records) {
    if (record.type === 'run.start') sum = noUsage
    if (record.type === 'turn.start') isInTurn = true
    if ((record.type === 'compaction.end' || record.type === 'policy.end') && !isInTurn)
      sum = addUsage(sum, record.usage ?? noUsage)
    if (record.type === 'turn.end') {
      isInTurn = false
      sum = addUsage(sum, record.usage)
    }
    if (record.type === 'run.end') assert.equal(record.usage, sum)
  }
}

function assertNothingLost({ said, driver }: Wanderer, conversation: Conversation): void {
  const dropped = driver
    .recordsOf('queue.changed')
    .flatMap((record) => (record.why === 'dropped' ? record.removed! : []))
  const { steering, followUps, prompts } = driver.context
  const waiting = [...steering, ...followUps, ...prompts].map(({ id }) => id)
  const elsewhere = new Set([...dropped, ...waiting])
  assert.is(elsewhere.size, dropped.length + waiting.length, 'a message is in two places')
  const expected = said.filter(({ id }) => !elsewhere.has(id)).map(({ words }) => words)
  assert.equal(authored(conversation).toSorted(), expected.toSorted())
}

describe('any interleaving of commands and outcomes', (it) => {
  it(
    'leaves the agent at rest, with a log that folds to its context and valid requests all along',
    { timeoutMs: 40_000 },
    () => {
      fc.assert(
        fc.property(policies, moves({ maxLength: 45 }), (policy, road) => {
          const wanderer = wander(policy, road)
          const { driver } = wanderer
          const { context, records } = driver
          assert.ok(['idle', 'paused', 'stopped'].includes(driver.state), `it rests in ${driver.state}`)
          const conversation = rebuildConversation(records)
          assert.is(conversation.head, context.head)
          assert.is(conversation.lastSeq, context.seq)
          if (context.calls.length === 0) assert.is(conversation.lastNodeId, context.lastNodeId)
          const open = driver.state === 'paused' && context.pause?.type === 'approvals' ? 1 : 0
          assertPaired(records, 'run.start', 'run.end', open)
          assertPaired(records, 'turn.start', 'turn.end', open)
          assertCallsEnded(driver)
          assertBrakesAnswered(driver)
          assertUsageAddsUp(records)
          assertNothingLost(wanderer, conversation)
          for (const queue of ['steering', 'followUps', 'prompts'] as const) {
            assert.equal(idsOf(conversation.queues[queue]).toSorted(), idsOf(context[queue]).toSorted())
          }
          assert.is(context.run === null, open === 0)
        }),
        { seed, numRuns: someRuns(2_000) },
      )
    },
  )

  it('takes what was said by one channel in the order it was said', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(policies, moves({ maxLength: 30 }), (policy, road) => {
        const { driver, said } = wander(policy, road)
        const taken = authored(rebuildConversation(driver.records))
        for (const channel of ['prompt', 'steer', 'followUp'] as const) {
          const words = said.filter((message) => message.channel === channel).map((message) => message.words)
          assert.equal(
            taken.filter((one) => words.includes(one)),
            words.filter((one) => taken.includes(one)),
          )
        }
      }),
      { seed, numRuns: someRuns(300) },
    )
  })

  it('rebuilds the queues in the order the agent has them', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(policies, moves({ maxLength: 30 }), (policy, road) => {
        const wanderer = new Wanderer(policy)
        for (const move of road) wanderer.play(move)
        const { context, records } = wanderer.driver
        const { queues } = rebuildConversation(records)
        for (const queue of ['steering', 'followUps', 'prompts'] as const)
          assert.equal(idsOf(queues[queue]), idsOf(context[queue]))
      }),
      { seed, numRuns: someRuns(300) },
    )
  })
})
