import { describe } from '../../../../test/support/suite.ts'
import { holdsTrue } from './cells.ts'
import { doors } from './doors.ts'
import { outcomeOf } from './outcomes.ts'

describe('a client whose words are being written', (it) => {
  for (const event of ['leaves', 'cancels', 'has its agent stopped'] as const)
    for (const door of doors)
      it(`${event}: ${door.name}`, async (context) => {
        const cell = { door, step: 'writing', event } as const
        await holdsTrue(context, cell, outcomeOf(cell))
      })
})
