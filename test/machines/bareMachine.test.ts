import { createActor, setup } from 'xstate'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { agentMachine } from '../../src/machines/agentMachine.ts'
import { supervisorMachine } from '../../src/machines/supervisorMachine.ts'
import { testAgent } from '../support/machineDriver.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { supervised } from './supervisorDriver.ts'

/** Error that a started actor ended with. */
function errorOf(input: object): unknown {
  const failed: unknown[] = []
  const actor = createActor(agentMachine, { input: input as never })
  actor.subscribe({ error: (error) => failed.push(error) })
  actor.start()
  assert.is(actor.getSnapshot().status, 'error')
  assert.is(failed.length, 1)
  return failed[0]
}

describe('the agent machine without a runtime', (it) => {
  it('does not start, and says which effects nobody provided and who does', () => {
    const error = errorOf(testAgent())
    assert.ok(withCode('EFFECTS_MISSING', 'streamReply', 'runTool', 'drainPrunes', 'runtime.spawn')(error))
  })

  it('says so to the machine it is a child of', () => {
    const errors: unknown[] = []
    const machine = setup({ actors: { agent: agentMachine } }).createMachine({
      invoke: {
        src: 'agent',
        input: testAgent(),
        onError: { actions: ({ event }) => void errors.push(event.error) },
      },
    })
    createActor(machine).start()
    assert.ok(withCode('EFFECTS_MISSING', 'settle')(errors[0]))
  })

  it('names the fields of an input that is not its own, such as a definition', () => {
    const definition = defineAgent({ name: 'tester', model: scriptedModel([]) })
    const said = ['definition (its name)', 'it has definition.', 'runtime.spawn(definition)'] as const
    assert.ok(withCode('INVALID_OPTION', ...said)(errorOf({ definition })))
    assert.ok(withCode('INVALID_OPTION', 'it has nothing')(errorOf({})))
  })

  it('names the one that is missing when only some were provided', async () => {
    const actor = createActor(supervisorMachine, { input: supervised() })
    const done = new Promise((resolve) => actor.subscribe({ complete: () => resolve(actor.getSnapshot().output) }))
    actor.start()
    const { error } = (await done) as { error?: { code: string; message: string } }
    assert.is(error?.code, 'EFFECTS_MISSING')
    assert.match(error?.message ?? '', 'openChild')
  })
})
