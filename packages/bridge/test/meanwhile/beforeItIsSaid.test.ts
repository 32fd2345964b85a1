import { describe } from '../../../../test/support/suite.ts'
import { holdsTrue, type Event } from './cells.ts'
import { doors } from './doors.ts'
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
