import { toolSourcesOf } from '../src/toolSources.ts'
import { recordVersion, type LogRecord } from '../../../src/protocol/records.ts'
import { startAgent, tool } from '../../../test/support/agentHarness.ts'
import { scriptedSource } from '../../../test/support/scriptedSource.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('toolSourcesOf', (it) => {
  it('says what each source has, and what is said of it, as the log has it last', async (context) => {
    const [look, find] = [tool('look', () => ''), tool('find', () => '')]
    const [one, two] = [scriptedSource('one', [look]), scriptedSource('two', [find])]
    const { agent, records } = await startAgent(context, { tools: [one, two], replies: ['a', 'b'], reframes: true })
    one.says('Use it well.')
    await agent.prompt('x').result
    assert.equal(toolSourcesOf(await records()), [
      { source: 'one', tools: ['look'], instructions: 'Use it well.' },
      { source: 'two', tools: ['find'] },
    ])
    one.says(undefined)
    one.has()
    two.has(find, look)
    await agent.prompt('y').result
    assert.equal(toolSourcesOf(await records()), [{ source: 'two', tools: ['find', 'look'] }])
  })

  it('knows nothing of what a caller had, and forgets trouble that is over', () => {
    const change = (more: object): LogRecord =>
      ({
        v: recordVersion,
        seq: 1,
        ts: 0,
        type: 'tools.changed',
        added: [],
        removed: [],
        ...more,
      }) as unknown as LogRecord
    const troubled = change({ trouble: [{ source: 'a', message: 'it is down' }] })
    assert.equal(toolSourcesOf([troubled]), [{ source: 'a', tools: [], trouble: 'it is down' }])
    assert.equal(toolSourcesOf([troubled, change({})]), [])
    const created = { type: 'agent.created', parent: { agentId: 'p' } } as unknown as LogRecord
    assert.equal(toolSourcesOf([troubled, created]), [])
    assert.equal(toolSourcesOf([]), [])
  })
})
