import type { AgentEvent } from '../events.ts'
import type { LogRecord, RecordOf } from '../records.ts'
import { textOf } from './messageText.ts'

/** A possible answer of a run: a reply, or the result of a call that ends the run. */
export interface SaidAnswer {
  readonly text: string
  /** The value of the call, which is the answer as data. */
  readonly data?: unknown
  /** True if it fits the agent's output schema. */
  readonly isAnswer: boolean
}

/** Returns the answer in a record or an event; `undefined` if it has none. The last one of a run is that of the run. */
export function answerIn(happened: AgentEvent | LogRecord): SaidAnswer | undefined {
  if (happened.type !== 'reply.end' && (happened.type !== 'tool.end' || happened.endsRun !== true)) return undefined
  const said = { text: textOf(happened.message.content), isAnswer: happened.answer === true }
  return happened.type === 'tool.end' ? { ...said, ...valueOf(happened) } : said
}

/** Returns the value of a call that ends the run; none where it is the text. */
export function valueOf({ value, data }: Pick<RecordOf<'tool.end'>, 'value' | 'data'>): Pick<SaidAnswer, 'data'> {
  const said = value ?? data
  return said === undefined ? {} : { data: said }
}

/** Returns an answer as one text: the JSON of its data, if it has any. */
export const answerText = ({ text, data }: Pick<SaidAnswer, 'text' | 'data'>): string =>
  data === undefined ? text : JSON.stringify(data)
