import { fileURLToPath } from 'node:url'
import { interpretBy } from '../../packages/runtime/src/interpreter/differenceFromXState.ts'
import { plannedInterpreter, xstateInterpreter } from '../../src/runtime/interpreter/interpreter.ts'
import { isTested, testedXState, xstateVersion } from '../../packages/runtime/src/interpreter/testedXState.ts'
import { startChild } from '../../packages/cli/test/cliChild.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'
import type { OnXState } from './onXState.ts'

const program = fileURLToPath(new URL('./onXState.ts', import.meta.url))

async function on(context: CaseContext, copy: string): Promise<OnXState> {
  const { code, stdout, stderr } = await startChild(context, [process.execPath, program, copy], { input: '' }).ended
  assert.is(code, 0, stderr)
  return JSON.parse(stdout) as OnXState
}

describe('the versions of XState that plans were compared with', (it) => {
  for (const [end, copy] of [['oldest', 'xstate-5-28'] as const, ['newest', 'xstate'] as const])
    it(`have plans do what the ${end} of them does`, async (context) => {
      assert.equal(await on(context, copy), {
        version: testedXState[end],
        chosen: 'planned',
        warnings: [],
        difference: null,
      })
    })

  it('do not include one on which there are no plans: it runs by itself, and says so', async (context) => {
    const { version, chosen, warnings, difference } = await on(context, 'xstate-5-20')
    assert.is(isTested(version), false)
    assert.is(chosen, 'xstate')
    assert.match(warnings.join(), /does not do what the planned interpreter does/)
    assert.match(difference ?? '', /no plans can be made/)
  })

  it('lie between the oldest and the newest, and are released ones', () => {
    for (const version of ['5.28.0', '5.28.1', '5.29.0', '5.33.2', xstateVersion]) assert.ok(isTested(version), version)
    for (const version of ['5.27.9', '5.9.99', '4.38.3', '5.33.4', '5.100.0', '6.0.0', '5.30.0-beta.1', ''])
      assert.not(isTested(version), version)
  })

  it('are compared with no more when a runtime begins, and others are', () => {
    const asked: string[] = []
    const chosen = (version: string, found?: string): unknown =>
      interpretBy('planned', undefined, {
        version,
        difference: () => {
          asked.push(version)
          return found
        },
      })
    assert.is(chosen(testedXState.oldest, 'unlike'), plannedInterpreter)
    assert.is(chosen(testedXState.newest, 'unlike'), plannedInterpreter)
    assert.is(chosen('5.27.0'), plannedInterpreter)
    assert.is(chosen('6.0.0', 'unlike'), xstateInterpreter)
    assert.equal(asked, ['5.27.0', '6.0.0'])
  })
})
