import { RuntimeError, type ErrorCode } from '../../../../src/protocol/errors.ts'

/** A problem with a file of a page, in sentences for the person who looks at the page. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem'
  readonly code: Extract<ErrorCode, 'LOG_CORRUPT' | 'LOG_VERSION' | 'STORE_READ_FAILED'>

  constructor(code: FileProblem['code'], what: string, options: ErrorOptions = {}) {
    super(what, options)
    this.code = code
  }

  /** Converts the problem into the error that stores throw. */
  toRuntimeError(): RuntimeError {
    return new RuntimeError(this.code, this.message, { cause: this.cause })
  }
}

export const damaged = (file: string, cause?: unknown): FileProblem =>
  new FileProblem(
    'LOG_CORRUPT',
    `${file} is damaged, or not a file of this page. Take it from a copy, or write the page again.`,
    { cause },
  )

export const tooNew = (file: string): FileProblem =>
  new FileProblem(
    'LOG_VERSION',
    `${file} was written by a newer version of escapement than this page. Write the page again with that version.`,
  )

export const missing = (file: string): FileProblem =>
  new FileProblem(
    'STORE_READ_FAILED',
    `${file} is not beside this page, or cannot be read. Copy it along with the page.`,
  )
