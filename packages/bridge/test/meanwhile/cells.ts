import { assert, type CaseContext } from '../../../../test/support/suite.ts'
import type { Door, Saying } from './doors.ts'
import { heldWorld, pingMs, type HeldWorld, type Step } from './heldWorld.ts'

/** Second events, which come while a step is held. */
const events = {
  leaves: (_, saying) => saying.leave(),
  cancels: (_, saying) => saying.cancel(),
  'asks again': () => {},
  'is turned away': async ({ turnAway, clock, settle }) => {
    turnAway()
    for (let pings = 0; pings < 3; pings += 1) {
      await clock.advance(pingMs)
      await settle()
    }
  },
  'has its agent stopped': ({ runtime }) => void runtime.agent('a')?.stop(),
  'has its server closed': () => {},
} as const satisfies Readonly<Record<string, (world: HeldWorld, saying: Saying) => unknown>>
export type Event = keyof typeof events
export const allEvents = Object.keys(events) as readonly Event[]

/** Outcome that a person sees in the end. */
export interface Outcome {
  /** How often it stands in the conversation, and how its runs ended. */
  readonly said: number
  readonly ends: readonly string[]
  /** How what was said was answered, and how it was when it was said again. `open`: not at all, over a connection that is there. */
  readonly answer: string
  readonly again?: string
}

export interface Cell {
  readonly door: Door
  readonly step: Step
  readonly event: Event
  readonly isBehindGateway?: boolean
}

/** Holds a step of what is said through a door, has something else happen, and lets go: with this outcome, and nothing that stays. */
export async function holdsTrue(context: CaseContext, cell: Cell, outcome: Outcome): Promise<void> {
  const { door, step, event, isBehindGateway = false } = cell
  const world = await heldWorld(context, { isBehindGateway })
  const gate = world.gates[step]
  const isFirst = step === 'who it is'
  let reached = isFirst ? gate.shut() : undefined
  const caller = await door.connect(world)
  reached ??= gate.shut()
  const saying = caller.say()
  await reached
  await world.settle()
  const again = event === 'asks again' ? saying.again() : undefined
  const closing = event === 'has its server closed' ? world.closeServer() : undefined
  // What takes it back may find the way at once.
  if (event === 'cancels' && step === 'where it is') gate.leaveAjar()
  await events[event](world, saying)
  await world.settle()
  // A page that stops to listen may only have been loaded again.
  await world.clock.advance(100)
  await world.settle()
  // Elsewhere a stop takes effect a little later than here: what is stopped lasts that long.
  if (event === 'cancels' && step === 'where it is') void world.gates.model.shut()
  gate.open()
  await world.settle()
  await world.clock.advance(100)
  await world.settle()
  if (step !== 'model') world.gates.model.open()
  await closing
  // What is not answered is seen only by waiting for it.
  const endOf = (answer: Promise<string>): Promise<string> =>
    outcome.answer === 'open' ? Promise.race([answer, world.settle().then(() => 'open')]) : answer
  const answer = await endOf(saying.answer)
  const answered = again === undefined ? { answer } : { answer, again: await again }
  await soon(world, async () => {
    assert.equal({ ...(await world.became()), ...answered }, outcome)
  })
  assert.ok(world.asked() <= outcome.said, 'no model is asked for what was not said')
  await saying.leave()
  await soon(world, async () => {
    assert.equal({ listening: world.listening(), connections: world.connections() }, { listening: 0, connections: 0 })
  })
  await world.closeServer()
  await world.runtime.close()
  assert.is(world.clock.pending, 0, 'timers that stay')
}

/** Checks what holds in the end: on a busy machine it may take some time. */
export async function soon({ settle }: HeldWorld, check: () => Promise<void>): Promise<void> {
  for (let times = 0; times < 50; times += 1) {
    try {
      return await check()
    } catch {
      await settle()
    }
  }
  await check()
}
