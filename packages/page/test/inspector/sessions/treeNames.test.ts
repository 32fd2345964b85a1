import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { calledFor, nameInTree } from '../../../src/inspector/model/sessions/treeNames.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const call = (childId: string | undefined, input: unknown): LogRecord =>
  ({ type: 'tool.start', input, ...(childId === undefined ? {} : { childId }) }) as unknown as LogRecord

const directory = (titles: Readonly<Record<string, string>>) =>
  ({
    agents: { value: new Map(Object.entries(titles).map(([agentId, title]) => [agentId, { agentId, title }])) },
    left: { value: new Map() },
    sessions: { value: null },
  }) as unknown as Parameters<typeof nameInTree>[0]

describe('names of agents in a tree', (it) => {
  it('are their titles while they are listed, and then what they were called for', () => {
    const records = [
      call('lead.1', { kind: 'docs', task: 'Find out  whether\nit is true.' }),
      call(undefined, { a: 'b' }),
    ]
    assert.is(nameInTree(directory({ 'lead.1': 'A title' }), records, 'lead.1'), 'A title')
    assert.is(nameInTree(directory({}), records, 'lead.1'), 'Find out whether it is true.')
    assert.is(nameInTree(directory({}), records, 'lead.2'), 'lead.2')
  })

  it('are known of calls that come later, and of none without words', () => {
    const records = [call('a', { n: 1 }), call('b', null)]
    assert.equal([...calledFor(records)], [])
    records.push(call('c', 'text'), call('d', { task: 'Do it.' }))
    assert.equal([...calledFor(records)], [['d', 'Do it.']])
  })
})
