import { useState } from 'preact/hooks'
import { cutEnd } from '../../../../../src/protocol/text/cutMiddle.ts'
import { formatCount } from '../model/words/numbers.ts'
import { forDisplay } from '../model/words/shortText.ts'

/** A text as it is, never markup; a long one is cut until a person asks for all of it. */
export function CutText({ text, most = 4_000 }: { readonly text: string; readonly most?: number }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > most
  return (
    <>
      <pre class="text" dir="auto">
        {forDisplay(isLong && !isWhole ? cutEnd(text, most) : text)}
      </pre>
      {isLong ? (
        <button type="button" class="button quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${formatCount(text.length)} characters`}
        </button>
      ) : null}
    </>
  )
}
