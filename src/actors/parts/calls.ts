/** The door by which replies have calls of deferred tools read, and calls their arguments explained. */
export { isDeferred } from './deferred/deferral.ts'
export { innerCall } from './deferred/innerCall.ts'
export { InnerDeltas } from './deferred/innerDeltas.ts'
export { declaredTask, withDeclaration } from './deferred/declared.ts'
