import { describe } from '../../../../test/support/suite.ts'
import { holdsTrue } from './cells.ts'
import { doors } from './doors.ts'
import { outcomeOf } from './outcomes.ts'

const rest = {
  lock: ['leaves', 'cancels', 'asks again', 'is turned away', 'has its server closed'],
  writing: ['asks again', 'is turned away', 'has its server closed'],
} as const

for (const step of ['lock', 'writing'] as const)
  describe(`a client, at the step "${step}"`, (it) => {
    for (const event of rest[step])
      for (const door of doors)
        it(`${event}: ${door.name}`, async (context) => {
          const cell = { door, step, event }
          await holdsTrue(context, cell, outcomeOf(cell))
        })
  })
