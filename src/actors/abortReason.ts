/**
 * What signals of ours are aborted with: the same as by default, but without a stack. That would name nothing but our own functions, and
 * to take it costs more than everything else that an abort does to a signal.
 */
export function abortReason(): DOMException {
  const { stackTraceLimit } = Error
  // Where it cannot be set, the stack is taken.
  Reflect.set(Error, 'stackTraceLimit', 0)
  const reason = new DOMException('This operation was aborted', 'AbortError')
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  return reason
}
