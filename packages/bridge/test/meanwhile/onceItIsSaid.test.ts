import { describe } from '../../../../test/support/suite.ts'
import { allEvents, holdsTrue } from './cells.ts'
import { doors } from './doors.ts'
import { outcomeOf } from './outcomes.ts'

describe('a client whose model is being asked', (it) => {
  for (const event of allEvents)
    for (const door of doors)
      it(`${event}: ${door.name}`, async (context) => {
        const cell = { door, step: 'model', event } as const
        await holdsTrue(context, cell, outcomeOf(cell))
      })
})
