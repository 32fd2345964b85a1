/** Writes one line: its fields, and a message in words. */
export type LogLine = (fields: object, message: string) => void

/** The logger port: narrative logs for people. A pino logger is one as it is. */
export interface Logger {
  readonly debug: LogLine
  readonly info: LogLine
  readonly warn: LogLine
  readonly error: LogLine
}
