import * as fc from 'fast-check'
import type { AgentContext, AgentMachineEvent } from '../../src/machines/agentTypes.ts'
import { pruneEnabled, revertEnabled } from '../../src/machines/guards.ts'
import { assert, describe } from '../support/suite.ts'

const request = { id: 'r', by: 'model', category: 'failure', step: 'n1' }
const queue = fc.option(fc.array(fc.constant(request), { maxLength: 3 }), { nil: null })

describe('the guards of the brake', (it) => {
  it('open only with their own switch on and something asked for, whatever else the context holds', () => {
    fc.assert(
      fc.property(
        fc.record({ revert: fc.boolean(), prune: fc.boolean(), compact: fc.boolean() }),
        queue,
        queue,
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.record({ type: fc.string() }),
        (flags, reverts, prunes, rest, event) => {
          const context = { ...rest, policy: { flags }, reverts, prunes } as unknown as AgentContext
          const subject = { context, event: event as unknown as AgentMachineEvent }
          assert.is(revertEnabled(subject), flags.revert && reverts !== null && reverts.length > 0)
          assert.is(pruneEnabled(subject), flags.prune && prunes !== null && prunes.length > 0)
        },
      ),
      { seed: 11, numRuns: 2_000 },
    )
  })
})
