/** The door "escapement/client": drives the agents of a server, from a browser or from Node. */
export * from '../packages/bridge/src/client/index.ts'
