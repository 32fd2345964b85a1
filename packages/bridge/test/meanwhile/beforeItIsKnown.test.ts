import { WebSocket } from 'ws'
import { assert, describe } from '../../../../test/support/suite.ts'
import { holdsTrue, soon } from './cells.ts'
import { doors } from './doors.ts'
import { heldWorld } from './heldWorld.ts'
import { outcomeOf } from './outcomes.ts'

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
      const isThere = event === 'comes'
      if (isThere) await soon(world, async () => assert.is(world.connections(), 1))
      await (await world.spawn()).prompt('x').result
      if (isThere) await soon(world, async () => assert.ok(heard.length > 0))
      await world.settle()
      assert.equal([world.listening() > 0, world.connections() > 0, heard.length > 0], [isThere, isThere, isThere])
    })

  for (const path of ['/stately', '/acp', '/ag-ui', '/api/chat'])
    it(`comes as the server begins to close, which waits for somebody else: ${path}`, async (context) => {
      const world = await heldWorld(context, { isBehindGateway: false })
      await doors[0]!.connect(world)
      await soon(world, async () => assert.is(world.connections(), 1))
      const reached = world.gates['who it is'].shut()
      const socket = new WebSocket(`ws://127.0.0.1:${world.port}${path}`)
      context.cleanup(() => socket.terminate())
      const ended = new Promise<string>((resolve) => {
        socket.on('open', () => resolve('let in')).on('error', ({ message }) => resolve(message))
      })
      await reached
      const closing = world.beginToClose()
      world.gates['who it is'].open()
      assert.match(await ended, /503/)
      await world.closeServer()
      await closing
    })
})
