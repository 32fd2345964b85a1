import { useMemo } from 'preact/hooks'
import { richText } from '../model/words/richText.ts'
import { forDisplay } from '../model/words/shortText.ts'
import { CopyButton } from './copyButton.tsx'

/** Code in its colours. */
export function ColouredCode({ language, text }: { readonly language: string; readonly text: string }) {
  const rich = richText.value
  return useMemo(() => {
    const tokens = rich?.codeTokens(language, text) ?? [{ kind: 'plain', text }]
    return (
      <code>
        {tokens.map(({ kind, text: piece }, index) =>
          kind === 'plain' ? (
            forDisplay(piece)
          ) : (
            <span key={index} class={`code-${kind}`}>
              {forDisplay(piece)}
            </span>
          ),
        )}
      </code>
    )
  }, [language, text, rich])
}

export interface CodeTextProps {
  readonly language: string
  readonly text: string
  /** True while the code grows. It has its colours once it is complete. */
  readonly isGrowing?: boolean
}

/** A block of code that scrolls in its own box. */
export const CodeText = ({ language, text, isGrowing = false }: CodeTextProps) => (
  <div class="prose-code">
    <div class="prose-code-head">
      <span>{language === '' ? 'text' : forDisplay(language.slice(0, 40))}</span>
      {isGrowing ? null : <CopyButton text={() => text} label="Copy code" />}
    </div>
    <pre tabIndex={0}>{isGrowing ? forDisplay(text) : <ColouredCode language={language} text={text} />}</pre>
  </div>
)
