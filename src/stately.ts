/** The door "escapement/stately": lets tools made for the Stately inspector attach to a server. */
export { stately } from './runtime/stately/stately.ts'
export type { Endpoint } from './runtime/bridge/endpoint.ts'
