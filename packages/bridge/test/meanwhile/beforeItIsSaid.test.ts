import { WebSocket } from 'ws'
import { assert, describe } from '../../../../test/support/suite.ts'
import { holdsTrue, type Event } from './cells.ts'
import { doors } from './doors.ts'
import { heldWorld } from './heldWorld.ts'
import { outcomeOf } from './outcomes.ts'

describe('a client whose agent is being woken', (it) => {
  // It cannot be stopped yet.
  const events: readonly Event[] = ['leaves', 'cancels', 'asks again', 'is turned away', 'has its server closed']
  for (const event of events)
    for (const door of doors)
      it(`${event}: ${door.name}`, async (context) => {
        const cell = { door, step: 'reading', event } as const
        await holdsTrue(context, cell, outcomeOf(cell))
      })
})

describe('a client who is not known yet', (it) => {
  const asking = doors.filter(({ name }) => ['bridge', 'AG-UI', 'useChat'].includes(name))
  for (const event of ['leaves', 'asks again', 'is turned away', 'has its server closed'] as const)
    for (const door of asking)
      it(`${event}: ${door.name}`, async (context) => {
        const cell = { door, step: 'who it is', event } as const
        await holdsTrue(context, cell, outcomeOf(cell))
      })

  for (const event of ['leaves', 'is turned away', 'has its server closed', 'comes'] as const)
    it(`${event}: Stately`, async (context) => {
      const world = await heldWorld(context, { isBehindGateway: false })
      const reached = world.gates['who it is'].shut()
      const socket = new WebSocket(`ws://127.0.0.1:${world.port}/stately`)
      const heard: unknown[] = []
      socket.on('error', () => {}).on('message', (data) => heard.push(data))
      context.cleanup(() => socket.terminate())
      await reached
      if (event === 'leaves') socket.terminate()
      if (event === 'is turned away') world.turnAway()
      const closing = event === 'has its server closed' ? world.closeServer() : undefined
      await world.settle()
      world.gates['who it is'].open()
      await world.settle()
      await closing
      await (await world.spawn()).prompt('x').result
      await world.settle()
      const isThere = event === 'comes'
      assert.equal([world.listening() > 0, world.connections() > 0, heard.length > 0], [isThere, isThere, isThere])
    })
})
