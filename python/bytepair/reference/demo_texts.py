"""The words of the demonstrations, one table for each language; `demo` does the work.

Both tables have the same keys and the same places for values, which a test checks.
"""

ENGLISH = {
    "corpus": "The text is the sample corpus of this package: {documents} documents in English and "
    "Chinese,\n{chars:,} characters, {bytes:,} bytes.",
    "yes": "yes",
    "no": "NO",
    # 1
    "pieces.title": "1  Pretokenization: cutting text into pieces",
    "pieces.intro": "Tokens never reach across a piece. A space goes with the word after it:",
    "pieces.lossless": "All {count:,} pieces of the corpus, joined, are the corpus again: {same}",
    "pieces.engines": "Exact pattern (package regex) and approximation (standard library):",
    "pieces.differ": "They differ where numbers are not decimal digits. In the corpus, {count} of "
    "{total:,} pieces differ.",
    "pieces.no_regex": "The package regex is not installed, so only the approximation is shown.",
    # 2
    "special.title": "2  Special tokens: why the longest goes first",
    "special.intro": "Special tokens {tokens} in {text!r}:",
    "special.listed": "  first in the list wins:  {parts}",
    "special.longest": "  longest wins:            {parts}",
    "special.why": "The first way can never give the longer token. And special tokens are cut out\n"
    "before training; if they are not, the marks between documents are learned like words:",
    "special.leak": "  tokens with '<|' or '|>': {left_in} if left in, {cut_out} if cut out",
    # 3
    "train.title": "3  Training: the fast way gives what the slow way gives",
    "train.equal": "{merges} merges: counting anew takes {slow:.2f} s, keeping counts up to date "
    "{fast:.2f} s\n({ratio:.0f} times faster). The same merges: {same}",
    "train.first": "The first merges: {merges}",
    "train.longest": "With {size:,} tokens ({seconds:.1f} s) the longest are: {tokens}",
    "train.ties": "When two pairs are equally frequent, the rule decides. Against the CS336 rule:",
    "train.differs": "  {rule:<12} first differs at merge {place}: {here} instead of {there}",
    "train.agrees": "  {rule:<12} gives the same merges here",
    # 4
    "code.title": "4  Encoding and decoding: nothing is lost",
    "code.intro": "Every text comes back as it was:",
    "code.half": "Ids can end inside a character: {char!r} has the ids {ids};\n"
    "the first alone decodes to {text!r}.",
    "code.stranger": "A text from a stranger is read without special tokens: {ids}, not [{id}].",
    "code.error": "What cannot be right is refused: {error}",
    "code.compression": "Documents the training did not see:",
    "code.row": "  {text} {count:>3} ids  back: {same}",
    "code.ratio": "  {language}: {bytes:,} bytes → {ids:,} ids, {ratio:.2f} bytes or {chars:.2f} "
    "characters per id",
    "code.english": "English",
    "code.chinese": "Chinese",
    # 5
    "stream.title": "5  Streaming: text that arrives in parts",
    "stream.intro": "What each chunk lets us say for certain:",
    "stream.row": "  {chunk} → {tokens}",
    "stream.end": "(end)",
    "stream.equal": "The corpus in chunks of {size:>4} characters, the same ids as in one: {same}",
    # 6
    "files.title": "6  Saving and loading",
    "files.saved": "Saved {bytes:,} bytes of JSON; loaded again, it gives the same ids: {same}",
    "files.sample": "Tokens are spelled in visible characters, Ġ for a space: {tokens}",
    # 7
    "speed.title": "7  Speed, with and without the cache",
    "speed.row": "  {name} {seconds:7.3f} s  {rate:6.2f} MB/s",
    "speed.without": "no cache",
    "speed.cold": "cache, 1st time",
    "speed.warm": "cache, 2nd time",
    "speed.repeat": "{repeated:.0%} of the pieces were met before, and the cache answers those. "
    "In a large text\nnearly all are, so the last rate is the one to expect there.",
    "speed.large": "At {rate:.1f} MB/s, {name} would take {time} on one core.",
    "speed.gigabyte": "1 GB",
    "speed.pile": "the Pile (825 GB)",
    "speed.minutes": "{n:.0f} minutes",
    "speed.hours": "{n:.1f} hours",
    "speed.days": "{n:.1f} days",
    "speed.end": "That is what the fast half of the package is for; it gives the same ids.",
}

CHINESE = {
    "corpus": "所用文本是本包自带的示例语料：中英文文档共 {documents} 篇，"
    "{chars:,} 个字符，{bytes:,} 字节。",
    "yes": "是",
    "no": "否！",
    # 1
    "pieces.title": "1  预切分：先把文本切成片段",
    "pieces.intro": "词元（token）不会跨越片段。空格归后面的词：",
    "pieces.lossless": "整个语料的 {count:,} 个片段连起来就是原文：{same}",
    "pieces.engines": "精确的模式（regex 包）与近似的模式（标准库）：",
    "pieces.differ": "两者的差别在于不是十进制数字的数。"
    "在语料中，{total:,} 个片段里有 {count} 个不同。",
    "pieces.no_regex": "没有安装 regex 包，所以只演示近似的模式。",
    # 2
    "special.title": "2  特殊词元：为什么长的优先",
    "special.intro": "特殊词元 {tokens}，文本 {text!r}：",
    "special.listed": "  按列出的顺序：{parts}",
    "special.longest": "  长的优先：    {parts}",
    "special.why": "按第一种办法，长的那个永远不会出现。另外，训练之前要先把特殊词元切掉；\n"
    "否则文档之间的标记会像普通的词一样被学进去：",
    "special.leak": "  含有 '<|' 或 '|>' 的词元：不切掉有 {left_in} 个，切掉有 {cut_out} 个",
    # 3
    "train.title": "3  训练：快的办法与慢的办法结果相同",
    "train.equal": "{merges} 次合并：每步重新计数 {slow:.2f} 秒，只更新有变化的计数 {fast:.2f} 秒"
    "（快 {ratio:.0f} 倍）。合并完全相同：{same}",
    "train.first": "最先的合并：{merges}",
    "train.longest": "词表有 {size:,} 个词元时（{seconds:.1f} 秒），最长的是：{tokens}",
    "train.ties": "两个对出现次数相同时，由规则决定先后。与 CS336 的规则相比：",
    "train.differs": "  {rule:<12} 从第 {place} 次合并开始不同：是 {here}，而不是 {there}",
    "train.agrees": "  {rule:<12} 在这里得到相同的合并",
    # 4
    "code.title": "4  编码与解码：什么也不丢",
    "code.intro": "任何文本都能原样还原：",
    "code.half": "一串 id 可能在字符中间结束：{char!r} 的 id 是 {ids}，只解码第一个得到 {text!r}。",
    "code.stranger": "来历不明的文本按普通文本编码，不认特殊词元：得到 {ids}，而不是 [{id}]。",
    "code.error": "不可能正确的输入会被拒绝：{error}",
    "code.compression": "训练时没有见过的文档：",
    "code.row": "  {text} {count:>3} 个 id  还原：{same}",
    "code.ratio": "  {language}：{bytes:,} 字节 → {ids:,} 个 id，"
    "每个 id {ratio:.2f} 字节，即 {chars:.2f} 个字符",
    "code.english": "英文",
    "code.chinese": "中文",
    # 5
    "stream.title": "5  流式编码：文本一段一段地到来",
    "stream.intro": "每来一段，能够确定的词元：",
    "stream.row": "  {chunk} → {tokens}",
    "stream.end": "（结束）",
    "stream.equal": "语料按每段 {size:>4} 个字符送入，与一次编码的 id 相同：{same}",
    # 6
    "files.title": "6  保存与载入",
    "files.saved": "保存为 {bytes:,} 字节的 JSON；重新载入后 id 相同：{same}",
    "files.sample": "词元用可见字符书写，Ġ 代表空格：{tokens}",
    # 7
    "speed.title": "7  速度：有缓存与没有缓存",
    "speed.row": "  {name} {seconds:7.3f} 秒  {rate:6.2f} MB/s",
    "speed.without": "没有缓存",
    "speed.cold": "缓存，第一遍",
    "speed.warm": "缓存，第二遍",
    "speed.repeat": "{repeated:.0%} 的片段以前出现过，由缓存直接回答。大语料中几乎全是这样，"
    "\n所以那里可以按最后一个速度估计。",
    "speed.large": "按 {rate:.1f} MB/s 计算，{name} 用一个核需要 {time}。",
    "speed.gigabyte": "1 GB",
    "speed.pile": "Pile 数据集（825 GB）",
    "speed.minutes": "{n:.0f} 分钟",
    "speed.hours": "{n:.1f} 小时",
    "speed.days": "{n:.1f} 天",
    "speed.end": "所以本包还有快的那一半，它给出的 id 完全相同。",
}

LANGUAGES = {"en": ENGLISH, "zh": CHINESE}
