import type { AgentContext, AgentMachineEvent } from '../../src/machines/agentTypes.ts'
import { beginsCold, foldEnabled, graftRequested, pruneEnabled, revertEnabled } from '../../src/machines/conditions.ts'
import { assert, describe } from '../support/suite.ts'

const either = [false, true]
const request = { id: 'r', by: 'model', category: 'failure', step: 'n1' }
const ofPerson = { ...request, by: 'person' }
const now = 1_000_000
/** Times of the newest reply, and whether the cache may be lost by now. */
const replies = [
  [null, false],
  [now, false],
  [now - 299_999, false],
  [now - 300_000, true],
] as const
const queues = [[], [request], [request, request], [ofPerson], [request, ofPerson]]

/** Throws when anything else is asked of it. */
const only = <T extends object>(fields: T): T =>
  new Proxy(fields, {
    get: (target, name) => {
      assert.ok(Object.hasOwn(target, name), `${String(name)} was looked at`)
      return Reflect.get(target, name) as unknown
    },
  })

describe('the guards of the brake', (it) => {
  it('open only with their own switch on and something asked for, or for a person, and look at nothing else', () => {
    for (const revert of either)
      for (const prune of either)
        for (const reverts of queues)
          for (const prunes of queues) {
            const context = only({ policy: { flags: { revert, prune } }, reverts, prunes }) as unknown as AgentContext
            const subject = only({ context }) as unknown as { context: AgentContext; event: AgentMachineEvent }
            assert.is(revertEnabled(subject), reverts.includes(ofPerson) || (revert && reverts.length > 0))
            assert.is(pruneEnabled(subject), prunes.includes(ofPerson) || (prune && prunes.length > 0))
          }
  })

  it('open grafts only when some are asked for', () => {
    for (const grafts of queues) {
      const subject = only({ context: only({ grafts }) }) as unknown as {
        context: AgentContext
        event: AgentMachineEvent
      }
      assert.is(graftRequested(subject), grafts.length > 0)
    }
  })

  it('open a fold only with its switch on, in a run, above the size that the last reply told or once the cache may be lost', () => {
    for (const fold of either)
      for (const run of [null, { runId: 'a/r0' }])
        for (const foldAt of [null, 0, 99, 100, 101])
          for (const contextTokens of [0, 100])
            for (const [repliedAt, isCold] of replies) {
              const sizes = { run, foldAt, contextTokens, repliedAt, now }
              const context = only({ policy: { flags: only({ fold }) }, ...sizes })
              const subject = only({ context }) as unknown as { context: AgentContext; event: AgentMachineEvent }
              const isOpen = foldAt !== null && (contextTokens > foldAt || isCold)
              assert.is(foldEnabled(subject), fold && run !== null && isOpen)
            }
  })

  it('begin a run with a fold only with its switch on, after a pause that a cache may not outlast', () => {
    for (const fold of either)
      for (const isAsleep of either)
        for (const [repliedAt, isCold] of replies) {
          const context = only({ policy: { flags: only({ fold }) }, repliedAt, isAsleep, ending: null })
          const event = { type: 'prompt', at: now }
          const subject = { context, event } as unknown as { context: AgentContext; event: AgentMachineEvent }
          assert.is(beginsCold(subject), fold && isCold && !isAsleep)
        }
  })
})
