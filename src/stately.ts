/** The door "escapement/stately": lets tools made for the Stately inspector attach to a server. */
export { stately } from '../packages/stately/src/stately.ts'
export type { Endpoint } from '../packages/bridge/src/server/endpoint.ts'
