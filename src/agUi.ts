/** The door "escapement/ag-ui": agents for AG-UI front ends, at a path of `runtime.serve`. */
export { agUi, type AgUiOptions } from './server/agUi/agUi.ts'
export type { ThreadState } from './server/agUi/threadState.ts'
