/** Exports for replies, which read calls of deferred tools, and for calls, which explain their arguments. */
export { isDeferred } from './deferred/deferral.ts'
export { innerCall } from './deferred/innerCall.ts'
export { InnerDeltas } from './deferred/innerDeltas.ts'
export { declaredTask, withDeclaration } from './deferred/declared.ts'
