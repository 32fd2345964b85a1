import type { ComponentChildren } from 'preact'
import { useContext, useId, useState } from 'preact/hooks'
import type { ToolResultMessage } from '../../../../../../src/protocol/messages.ts'
import type { DataApart } from '../../../../../../src/protocol/resultData.ts'
import type { CallData } from '../../model/calls/callBook.ts'
import { keptData } from '../../model/calls/keptResults.ts'
import { formatBytes } from '../../model/words/numbers.ts'
import { JsonTree } from '../../parts/jsonTree.tsx'
import { LongText } from '../../parts/longText.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { later } from '../../parts/later.tsx'
import { KeptOfPage, KeptResults } from '../calls/keptResults.tsx'

export interface CallOutputProps {
  readonly message: ToolResultMessage
  /** Data of the result for the application, if there is any. */
  readonly data: CallData | undefined
  /** Arguments of the call. */
  readonly input: unknown
  /** The text that the model reads. */
  readonly children: ComponentChildren
}

const tabs = [
  { name: 'text', label: 'Output' },
  { name: 'data', label: 'Data' },
] as const
const withApp = [{ name: 'app', label: 'App' }, ...tabs] as const

const App = later('Loading the app', async () => (await import('../apps/appOfCall.tsx')).AppOfCall)

/** Returns true if data has an app of the tool. For data that is kept beside the log, its beginning tells. */
const hasApp = (data: CallData): boolean =>
  'json' in data
    ? typeof data.json === 'object' && data.json !== null && 'mcpApp' in data.json
    : !('lost' in data.apart) && data.apart.preview.startsWith('{"mcpApp":')

/** The result of a call: the text for the model and, behind a tab of its own, the data for the application. */
export function CallOutput({ message, data, input, children }: CallOutputProps) {
  const reader = useContext(KeptOfPage)
  const isApp = data !== undefined && reader !== null && hasApp(data)
  const [chosen, choose] = useState<'text' | 'data' | 'app'>(isApp ? 'app' : 'text')
  const panelId = useId()
  const title = message.isError ? 'Error' : 'Output'
  const text = (
    <>
      {children}
      <KeptResults of={message} showsPictures />
    </>
  )
  return (
    <section class={`call-part ${message.isError ? 'is-bad' : ''}`} aria-label={title}>
      {data === undefined ? (
        <>
          <h3>{title}</h3>
          {text}
        </>
      ) : (
        <>
          <Tabs
            label="Output of the call"
            tabs={isApp ? withApp : tabs}
            chosen={chosen}
            onChoose={choose}
            panelId={panelId}
          />
          <div id={panelId} role="tabpanel" aria-labelledby={`${panelId}-${chosen}`}>
            {chosen === 'text' ? (
              text
            ) : chosen === 'app' && reader !== null ? (
              <App data={data} input={input} reader={reader} />
            ) : 'apart' in data ? (
              <Apart data={data.apart} />
            ) : (
              <JsonTree value={data.json} />
            )}
          </div>
        </>
      )}
    </section>
  )
}

/** Data that is too large for its record. */
const Apart = ({ data }: { readonly data: DataApart }) =>
  'lost' in data ? (
    <p class="problem">Lost: {formatBytes(data.lost)} are more than the log holds, and could not be kept beside it.</p>
  ) : (
    <>
      <LongText text={`${data.preview}…`} kind="code" lines={16} chars={2_000} />
      <KeptResults of={keptData(data)} />
    </>
  )
