import { assert, describe } from '../../../../test/support/suite.ts'
import { soon } from './cells.ts'
import { doors } from './doors.ts'
import { heldWorld, pingMs } from './heldWorld.ts'

const said = { BRIDGE_UNAUTHORISED: /withdrawn|BRIDGE_UNAUTHORISED/, SERVER_CLOSED: /began to close|SERVER_CLOSED/ }

describe('a client that is no longer let in while its agent is woken, and not cut off yet', (it) => {
  const overHttp = doors.filter(({ name }) => ['AG-UI', 'useChat', 'MCP, legacy', 'MCP, modern'].includes(name))
  for (const [code, among] of [
    ['BRIDGE_UNAUTHORISED', doors],
    // Sockets are closed at once.
    ['SERVER_CLOSED', overHttp],
  ] as const)
    for (const door of among)
      it(`is told that nothing was done, which is so: ${code}, ${door.name}`, async (context) => {
        const world = await heldWorld(context, { isBehindGateway: false })
        const caller = await door.connect(world)
        const reached = world.gates.lock.shut()
        const saying = caller.say()
        await reached
        if (code === 'SERVER_CLOSED') void world.beginToClose()
        else {
          world.turnAway()
          // The application is asked again; what it says counts from the next ping on.
          await world.clock.advance(pingMs)
        }
        await world.settle()
        world.gates.lock.open()
        const answer = await saying.answer
        const told = [answer, ...saying.heard].join('\n')
        // A call of MCP is broken off where its server closes: its client asks again.
        const isTold =
          code === 'SERVER_CLOSED' && door.name.startsWith('MCP') ? answer === 'cut' : said[code].test(told)
        assert.ok(isTold, told)
        await soon(world, async () => assert.equal(await world.became(), { said: 0, ends: [] }))
        assert.is(world.asked(), 0)
        await saying.leave()
      })
})
