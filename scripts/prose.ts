interface Comment {
  readonly type: 'Block' | 'Line'
  readonly value: string
  readonly loc: object
}

/** The part of the linter's context that the rule reads. */
interface Context {
  readonly sourceCode: { getAllComments(): readonly Comment[] }
  report(problem: { readonly loc: object; readonly message: string }): void
}

/** Matches a doc comment that begins with a word in place of its subject. */
export const refused = /^(?:What|Whether|Whoever|Nobody|Of)\b/

// oxlint-disable-next-line import/no-default-export -- The linter reads it so.
export default {
  meta: { name: 'prose' },
  rules: {
    'subject-first': {
      create: ({ sourceCode, report }: Context) => ({
        Program() {
          for (const { type, value, loc } of sourceCode.getAllComments()) {
            if (type !== 'Block' || !value.startsWith('*')) continue
            const [word = ''] = value.replace(/^[\s*]+/, '').split(/\s/, 1)
            if (refused.test(word))
              report({ loc, message: `A doc comment begins with its subject, not with "${word}".` })
          }
        },
      }),
    },
  },
}
