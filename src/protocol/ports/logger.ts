/** Writes one line with its fields and a message. */
export type LogLine = (fields: object, message: string) => void

/** The logger port, for narrative logs for people. A pino logger can be used directly. */
export interface Logger {
  readonly debug: LogLine
  readonly info: LogLine
  readonly warn: LogLine
  readonly error: LogLine
}
