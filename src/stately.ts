/** The door "escapement/stately": lets tools made for the Stately inspector attach to a server. */
export { stately } from './server/stately/stately.ts'
export type { Endpoint } from './server/bridge/endpoint.ts'
