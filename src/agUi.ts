/** The door "escapement/ag-ui": agents for AG-UI front ends, at a path of `runtime.serve`. */
export { agUi, type AgUiOptions } from '../packages/ag-ui/src/agUi.ts'
export type { ThreadState } from '../packages/ag-ui/src/threadState.ts'
