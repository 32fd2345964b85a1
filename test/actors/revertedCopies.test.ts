import { drainReverts } from '../../src/actors/brakes/revert/drainReverts.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { actorPorts, agentSays, runActor, toolSays, userSays } from '../support/actorPorts.ts'
import { assert, describe } from '../support/suite.ts'

describe('a revert of copies', (it) => {
  it('leaves the sub-agents of the turn in which they were made alone', async () => {
    const ports = actorPorts({ braking: { revert: true } }, [
      userSays('the task'),
      agentSays({ type: 'toolCall', callId: 'c', name: 'look', input: {} }),
      toolSays('c', 'seen'),
    ])
    const { conversation } = ports
    const asked: number[] = []
    ports.children = { ...ports.children!, abandon: (turnIndex) => (asked.push(turnIndex), []) }
    const add = (turnIndex: number, body: object): void =>
      conversation.apply({
        v: 3,
        seq: conversation.lastSeq + 1,
        time: 1,
        runId: 'a1/r0',
        turnIndex,
        ...body,
      } as LogRecord)
    const evidence = { calls: [], changed: [] }
    const tag = { kind: 'lesson', text: 'no', turnIndex: 0, abandoned: [2, 3], evidence }
    const revert = { type: 'revert.applied', id: 'r', applied: true, category: 'failure', requested: 'n1', target: 1 }
    add(0, { ...revert, tag })
    const copies = [
      { nodeId: 4, from: 2 },
      { nodeId: 5, from: 3 },
    ]
    add(7, { type: 'graft.applied', id: 'g', applied: true, requested: ['n2'], copies })
    const request = { id: 'v', by: 'person', category: 'failure', step: 'n1', summary: 'no' } as const
    const input = { agentId: 'a1', key: 'k', requests: [request], turnIndex: 7, lastNodeId: 5, expected: 1 }
    const { outcomes } = await runActor(drainReverts, ports, { ...input, outlook: 'ends' }).output
    assert.is(outcomes[0]?.applied, true)
    assert.equal(asked, [Infinity])
  })
})
