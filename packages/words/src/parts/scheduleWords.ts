import type { PartWords } from './describing.ts'
import type { scheduleRecords } from '../../../../src/protocol/parts/schedules/scheduleRecords.ts'

export const scheduleWords: PartWords<typeof scheduleRecords> = {
  'schedule.set': {
    log: ({ id, due, by }) => ({
      level: 'info',
      message: `schedule ${id} was set`,
      fields: { due: new Date(due).toISOString(), by },
    }),
    attributes: ({ id, due, by }) => ({
      'escapement.schedule': id,
      'escapement.schedule.due': due,
      'escapement.by': by,
    }),
  },
  'schedule.fired': {
    log: ({ id, due, missed, skipped }) => ({
      level: 'info',
      message: `schedule ${id} ${skipped === true ? 'was skipped' : 'fired'}`,
      fields: { due: new Date(due).toISOString(), missed },
    }),
    attributes: ({ id, due, missed }) => ({
      'escapement.schedule': id,
      'escapement.schedule.due': due,
      'escapement.schedule.missed': missed,
    }),
  },
  'schedule.removed': {
    log: ({ id, why }) => ({
      level: why === 'asked' ? 'info' : 'warn',
      message: `schedule ${id} was removed`,
      fields: { why },
    }),
    attributes: ({ id, why }) => ({ 'escapement.schedule': id, 'escapement.why': why }),
  },
}
