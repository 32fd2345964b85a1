import type { PartWords } from './describing.ts'
import type { hostRecords } from '../../../../src/protocol/parts/hosts/hostRecords.ts'

export const hostWords: PartWords<typeof hostRecords> = {
  'host.created': {
    log: ({ machine, version }) => ({
      level: 'info',
      message: 'a machine begins',
      fields: { machine, ...(version === undefined ? {} : { version }) },
    }),
  },
  'host.event': {
    log: ({ event, from, timer }) => ({
      level: 'debug',
      message: 'a machine is given an event',
      fields: {
        event: event.type,
        ...(from === undefined ? {} : { from }),
        ...(timer === undefined ? {} : { timer }),
      },
    }),
  },
  'host.step': {
    log: ({ upto }) => ({ level: 'debug', message: 'a machine took a step', fields: { upto } }),
  },
  'host.effect.start': {
    log: ({ actor, effects }) => ({ level: 'info', message: 'an effect begins', fields: { actor, effects } }),
  },
  'host.effect.end': {
    log: ({ actor, error }) => ({
      level: error === undefined ? 'info' : 'warn',
      message: error === undefined ? 'an effect has ended' : 'an effect has failed',
      fields: { actor, ...(error === undefined ? {} : { code: error.code }) },
    }),
  },
  'host.snapshot': {
    log: ({ upto }) => ({ level: 'debug', message: 'the state of a machine was kept', fields: { upto } }),
  },
  'host.done': {
    log: ({ error }) => ({
      level: error === undefined ? 'info' : 'warn',
      message: error === undefined ? 'a machine is done' : 'a machine has failed',
      fields: error === undefined ? {} : { code: error.code },
    }),
  },
}
