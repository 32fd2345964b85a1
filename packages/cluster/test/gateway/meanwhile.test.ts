import { assert, describe } from '../../../../test/support/suite.ts'
import { holdsTrue } from '../../../bridge/test/meanwhile/cells.ts'
import { doors } from '../../../bridge/test/meanwhile/doors.ts'
import { heldWorld } from '../../../bridge/test/meanwhile/heldWorld.ts'
import { outcomeOf } from '../../../bridge/test/meanwhile/outcomes.ts'

describe('a client of a gateway whose agent is looked for', (it) => {
  // Calls of MCP name no agent that is looked for, and an editor has found it by the time that something is said.
  const asking = doors.filter(({ name }) => !name.startsWith('MCP'))
  for (const event of ['leaves', 'cancels', 'asks again', 'has its server closed'] as const)
    for (const door of asking.filter(
      ({ name }) => event !== 'has its server closed' || / socket|bridge|ACP/.test(name),
    ))
      it(`${event}: ${door.name}`, async (context) => {
        const cell = { door, step: 'where it is', event, isBehindGateway: true } as const
        await holdsTrue(context, cell, outcomeOf(cell))
      })

  it('stops it without waiting for what was asked by who has left', async (context) => {
    const world = await heldWorld(context, { isBehindGateway: true })
    const reached = world.gates['where it is'].shut()
    const saying = (await doors.find(({ name }) => name === 'AG-UI')!.connect(world)).say()
    await reached
    await saying.leave()
    await world.settle()
    world.gates['where it is'].open()
    await world.settle()
    const headers = { connection: 'close' }
    const stopped = await fetch(`http://127.0.0.1:${world.port}/api/chat/a/stream`, { method: 'DELETE', headers })
    assert.is(stopped.status, 204)
  })
})
