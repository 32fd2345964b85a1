/** The door "escapement/ag-ui": agents for AG-UI front ends, at a path of `runtime.serve`. */
export { agUi } from '../packages/ag-ui/src/agUi.ts'
