import type { EventOf } from '../../events.ts'
import type { Narrated } from '../../brakes/telling.ts'

type Reported = EventOf<'call.reported'>

const outcome = ({ isError, ended }: Pick<Reported, 'isError' | 'ended'>): string =>
  ended ?? (isError ? 'failed' : 'ended')

// Words about calls in the background, by those who say them.

/** Lines of the application's log: never content. */
export const log = {
  'call.reported': ({ id, name, callId, ...how }: Reported): Narrated => ({
    level: 'debug',
    message: `background call ${id} of ${name}: ${outcome(how)}`,
    fields: { id, callId, name, isError: how.isError },
  }),
}

/** The part that clients see who may not see all. */
export const visible = {
  'call.reported': ({
    content: _,
    data: __,
    dataApart: ___,
    changed: ____,
    receipt: _____,
    artifacts: ______,
    ...event
  }: Reported): Reported => ({ ...event, content: [] }),
} as const

/** The group of an event in lists. */
export const group = { 'call.reported': 'tool' } as const

/** A line for people. */
export const line = {
  'call.reported': ({ id, name, ...how }: Reported): string => `${id}, ${name}: ${outcome(how)}`,
}
