import type { Command } from '../../../bridge/src/server/front.ts'

/** Types of commands that the gateway answers itself, from the store. */
export const ownCommands: ReadonlySet<Command['type']> = new Set<Command['type']>([
  'session.list',
  'session.search',
  'session.spend',
  'waiting.list',
  'agent.share',
  'worker.list',
  'host.list',
])
